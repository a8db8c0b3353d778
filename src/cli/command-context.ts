import type { AnyConfig } from '../service/config/config.ts'
import type { OpenService } from '../service/open-service.ts'
import type { HttpServer } from '../transport/http/listen.ts'
import type { WorkerChannel } from '../transport/worker-channel.ts'
import type { Output } from './output.ts'

/** The part of a service that commands use. */
export interface RunningService
  extends Pick<OpenService, 'models' | 'warnings' | 'routes' | 'changes' | 'limits' | 'database' | 'jobs' | 'seed'> {
  /** `workers`: the other processes that share the port. */
  listen(port?: number, host?: string, workers?: WorkerChannel): Promise<HttpServer>
  close(): Promise<void>
}

/** The part of the public API that commands use. `cli/` must not import `src/index.ts`, so it is passed in. */
export interface PublicApi {
  createService(config: AnyConfig): Promise<RunningService>
}

/** What a command receives besides its options. */
export interface CommandContext {
  readonly output: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Loads the public API lazily: it is most of the program, and a help text does not need it. */
  readonly load: () => Promise<PublicApi>
}
