/** As `engines` in package.json. */
const oldestNode = 24

/** Throws on an older Node, where the service would fail later with errors that do not name the cause. */
export function assertNodeVersion(version: string): void {
  if (Number(version.split('.')[0]) >= oldestNode) return
  throw new Error(`Keelson needs Node ${oldestNode} or newer; this is Node ${version}`)
}
