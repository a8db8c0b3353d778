import type { AnswerRetention, StoredAnswer, StoredAnswers } from '../stored-answers.ts'

/** Stored answers that end with the process. Those of a running transaction are added when it commits. */
export class MemoryStoredAnswers implements StoredAnswers {
  readonly #answers = new Map<string, StoredAnswer>()

  async prepare(): Promise<void> {}

  find(id: string): StoredAnswer | undefined {
    return this.#answers.get(id)
  }

  add(answers: readonly StoredAnswer[]): void {
    for (const answer of answers) this.#answers.set(answer.id, answer)
  }

  async trim({ olderThan, rows }: AnswerRetention): Promise<void> {
    const surplus = this.#answers.size - rows
    let index = 0
    for (const [id, { at }] of this.#answers) if (at < olderThan || index++ < surplus) this.#answers.delete(id)
  }
}
