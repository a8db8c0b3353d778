import type { Model } from '../../model/model.ts'
import { markWithin } from '../../operation/hooks/call-hook.ts'
import type { HookServices } from '../../operation/hooks/hook-services.ts'
import { system } from '../../protocol/requester.ts'
import { type ScopedReads, type ScopedStore, systemStore } from '../../storage/scoped-store.ts'
import type { Store } from '../../storage/store.ts'
import { within } from '../../storage/transaction-store.ts'
import { type Authorization, authorizationFor } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { marked } from './marked-records.ts'
import { type Caller, type LooseRecords, recordsOf } from './records.ts'
import { lazyRecords } from './records-by-model.ts'
import { openScope, TransactionScope } from './transaction-scope.ts'

/** The records that hooks use. `contextOf` is called when a hook runs, which is after the service was opened. */
export function createHookServices(contextOf: () => DispatchContext, onError: (error: unknown) => void): HookServices {
  const lazily = (recordsOfModel: (model: Model) => LooseRecords): object =>
    lazyRecords(contextOf().services.models, recordsOfModel)
  const callerOf = (
    authorization: () => Authorization,
    inside: (reads: ScopedReads) => Authorization,
    reads: ScopedReads,
  ): Caller => {
    const scope = openScope(contextOf().store)
    return scope ? { authorization: () => inside(reads), scope } : { authorization }
  }
  return {
    recordsFor(requester, reads) {
      const context = contextOf()
      const authorization = () => authorizationFor(context, requester)
      const caller = callerOf(authorization, (reads) => ({ ...authorization(), store: reads as ScopedStore }), reads)
      return lazily((model) => recordsOf(context, model, caller))
    },
    systemRecords(reads) {
      const context = contextOf()
      const store = () => systemStore((reads.unscoped ?? reads) as Store)
      const caller = callerOf(
        () => authorizationFor(context, system),
        () => ({ requester: system, access: undefined, store: store() }),
        reads,
      )
      return lazily((model) => marked(recordsOf(context, model, caller)))
    },
    async inTransaction(transaction, work) {
      const context = contextOf()
      const scope = new TransactionScope(context.store)
      const store = systemStore(within(transaction, context.store))
      const authorization = () => ({ requester: system, access: undefined, store })
      const tx = lazily((model) => marked(recordsOf(context, model, { authorization, scope }), markWithin))
      await scope.run(async () => {
        await work(tx)
      })
    },
    onError,
  }
}
