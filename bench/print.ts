/** Output and failure of the benchmarks. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function printRow([title = '', ...figures]: readonly string[]): void {
  print(`${title.padEnd(24)}${figures.map((figure) => figure.padStart(10)).join('')}`)
}

export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
