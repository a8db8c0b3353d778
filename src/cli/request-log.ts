import type { JsonObject } from '../protocol/json.ts'
import type { AnyConfig } from '../service/config/config.ts'
import { printError } from '../service/print-error.ts'
import { jobError, type Logger } from '../support/logger.ts'
import type { Output } from './output.ts'

/** A logger that prints everything but requests, and passes everything on to the logger of the configuration. */
export function warningLog(output: Output, config: AnyConfig): Logger {
  const log = requestLog(output, config)
  const isPrinted = (data: object) => (data as JsonObject).kind !== 'request'
  return { ...log, info: (data, message) => (isPrinted(data) ? log : config.logger)?.info(data, message) }
}

/** A logger that prints requests and warnings, and passes everything on to the logger of the configuration. */
export function requestLog(output: Output, { logger: configured, onError }: AnyConfig): Logger {
  const print = (data: object, message: string) => {
    const { kind, ...rest } = data as JsonObject
    output.event({ event: kind as string, ...rest })
    output.line(`  ${message}`)
  }
  return {
    info(data, message) {
      print(data, message)
      configured?.info(data, message)
    },
    warn(data, message) {
      print(data, message)
      configured?.warn(data, message)
    },
    error(data, message) {
      const { kind, err } = data as { readonly kind?: string; readonly err: unknown }
      if (configured) configured.error(data, message)
      // A job that has failed. The service reports it to `onError` only if it has no logger, and this is one.
      else if (kind !== undefined) (onError ?? console.error)(jobError(message, err))
      else if (!onError) printError(err)
    },
  }
}
