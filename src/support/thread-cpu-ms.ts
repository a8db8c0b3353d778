/** The processor time of this thread, which does not advance while the process is suspended. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
