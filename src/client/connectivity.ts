/** The used part of a window and its document, which other runtimes do not have. */
interface Page {
  addEventListener?(type: string, listener: () => void, options: { readonly signal: AbortSignal }): void
  readonly document?: Page & { readonly visibilityState: string }
}

/**
 * Calls `isBack` when the network returns or the page becomes visible, `isGone` when the network is lost, where the runtime
 * reports it, until the signal is aborted.
 */
export function watchConnectivity(isBack: () => void, isGone: () => void, signal: AbortSignal): void {
  const page = globalThis as unknown as Page
  page.addEventListener?.('online', isBack, { signal })
  page.addEventListener?.('offline', isGone, { signal })
  const { document } = page
  document?.addEventListener?.('visibilitychange', () => document.visibilityState === 'visible' && isBack(), { signal })
}

/** Waits, and can be continued at once. */
export class Pause {
  #end: (() => void) | undefined

  for(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end(): void {
    this.#end?.()
  }
}
