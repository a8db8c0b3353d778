import type { AnyConfig } from '../service/config.ts'
import type { OpenService } from '../service/open-service.ts'
import type { HttpServer } from '../transport/http/listen.ts'
import type { Screen } from './screen.ts'

/** The part of a service that commands use. */
export interface RunningService
  extends Pick<OpenService, 'models' | 'routes' | 'changes' | 'limits' | 'database' | 'seed'> {
  listen(port?: number, host?: string): Promise<HttpServer>
  close(): Promise<void>
}

/** The part of the public entry that commands use. It stands above us, so it is handed in. */
export interface PublicEntry {
  createService(config: AnyConfig): Promise<RunningService>
}

/** What a command is run with. */
export interface Program {
  readonly screen: Screen
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Loads the public entry: most of what the program consists of, and not needed to print a help text. */
  readonly load: () => Promise<PublicEntry>
}
