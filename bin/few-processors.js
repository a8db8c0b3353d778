// With one or two processors, V8 marks garbage in turns of the event loop and not in threads: those have its priority, and when a request
// brings megabytes they had its processor for up to 37 ms (bench/README.md, section Blocking). `keelson` loads this before anything
// else, when no marking has begun.
// biome-ignore-all lint/style/useNodejsImportProtocol: old versions do not support the protocol
const { availableParallelism } = require('os')
const { setFlagsFromString } = require('v8')

if (availableParallelism() <= 2) setFlagsFromString('--no-concurrent-marking')
