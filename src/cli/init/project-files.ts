/** The contents of the files that `keelson init` writes. */

export const configText = `import { defineConfig } from 'keelson'

export default defineConfig({
  // The database; DATABASE_URL overrides it. postgres://user@host/name selects PostgreSQL.
  database: 'sqlite:data/app.db',

  // Without access rules every client may read and write. \`access: { read: true, create: 'editor' }\` declares them.

  // Every model is a table. The attributes \`id\`, \`createdAt\` and \`updatedAt\` are added automatically.
  models: {
    task: {
      attributes: {
        title: { type: 'string', required: true, maxLength: 200 },
        done: { type: 'boolean', defaultsTo: false },
        dueAt: { type: 'datetime' },
        person: { model: 'person' },
      },
    },

    person: {
      attributes: {
        name: { type: 'string', required: true },
        email: { type: 'string', isEmail: true, unique: true },
        // The other side of task.person.
        tasks: { collection: 'task', via: 'person' },
      },
    },
  },
})
`

export const gitignoreText = `node_modules/
# The SQLite database.
data/
.env
`

/** For editors and \`tsc\`: Node runs the files by removing the types, so they import each other with their extension. */
export const tsconfigText = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      // The types of Node, which the package installs, declare `console` and `fetch`.
      types: ['node'],
      module: 'preserve',
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      skipLibCheck: true,
    },
  },
  null,
  2,
)}\n`
