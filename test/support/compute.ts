/** Keeps the event loop busy for this time. */
export function compute(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}
