/** The used part of a window, which other runtimes do not have. */
interface Page {
  addEventListener?(type: string, listener: () => void, options: { readonly signal: AbortSignal }): void
  readonly document?: { readonly hidden: boolean }
}

/**
 * Calls `isBack` when the network returns or the page becomes visible, `isGone` when the network is lost, where the runtime
 * reports it, until the signal is aborted.
 */
export function watchConnectivity(isBack: () => void, isGone: () => void, signal: AbortSignal): void {
  const page = globalThis as unknown as Page
  const listen = (type: string, listener: () => void) => page.addEventListener?.(type, listener, { signal })
  listen('online', isBack)
  listen('offline', isGone)
  // It bubbles from the document.
  listen('visibilitychange', () => page.document?.hidden || isBack())
}
