/** Keeps the event loop busy for this time. */
export function blockEventLoop(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}
