import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import type { ForeignWriter } from './foreign-writer.ts'
import { fenced, type Row, type Sql, selects, truthIn } from './tables.ts'

const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === 5

export function sqliteWriter(path: string): ForeignWriter {
  const database = new DatabaseSync(path, { timeout: 0 })
  const run = ([text, values = []]: Sql) => database.prepare(text).run(...values)
  /** Nothing else of this process may happen inside it, and it waits for others without stopping this process. */
  async function transaction(work: () => 'commit' | 'rollback'): Promise<boolean> {
    for (;;) {
      try {
        database.exec('begin immediate')
        break
      } catch (error) {
        if (!isBusy(error)) throw error
        await wait(1)
      }
    }
    try {
      const end = work()
      database.exec(end)
      return end === 'commit'
    } catch {
      database.exec('rollback')
      return false
    }
  }
  return {
    isOneOperation: false,
    write: (statements, end = 'commit') =>
      transaction(() => {
        for (const statement of statements) run(statement)
        return end
      }),
    async fence(mark, isTrue) {
      await transaction(() => {
        for (const text of fenced) run([text, [mark]])
        const read = (text: string) =>
          database
            .prepare(text)
            .all()
            .map((row) => Object.values(row) as Row)
        isTrue(
          truthIn({
            owner: read(selects.owner),
            pet: read(selects.pet),
            tag: read(selects.tag),
            pairs: read(selects.pairs),
          }),
        )
        return 'commit'
      })
    },
    async breakLog() {
      // Every fifth row of the log changes its place with the one before.
      const content = 'operation, model, verb, id, before, after'
      database.exec(`create trigger swapped after insert on keelson_log when new.seq % 5 = 0 begin
        insert into keelson_log (seq, ${content}) select -1, ${content} from keelson_log where seq = new.seq - 1;
        update keelson_log set (${content}) = (new.operation, new.model, new.verb, new.id, new.before, new.after) where seq = new.seq - 1;
        update keelson_log set (${content}) = (select ${content} from keelson_log where seq = -1) where seq = new.seq;
        delete from keelson_log where seq = -1;
      end`)
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}
