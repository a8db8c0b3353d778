import type { Access, AccessPolicy } from '../../access/policy.ts'
import { restrictStore } from '../../access/restricted-store.ts'
import { forbidden } from '../../access/write-checks.ts'
import { originalOf } from '../../model/model.ts'
import { hookedStore, type WithinCaller } from '../../operation/hooks/hooked-store.ts'
import type { Operation, Target } from '../../operation/operation.ts'
import type { Requester } from '../../protocol/requester.ts'
import { type ScopedStore, systemStore as scopedBySystem } from '../../storage/scoped-store.ts'
import type { Store } from '../../storage/store.ts'

/** What one requester may do. Made once per request or subscription, so that each rule is applied once. */
export interface Authorization {
  readonly requester: Requester
  /** Undefined: everything. */
  readonly access: Access | undefined
  readonly store: ScopedStore
}

export interface AuthorizationContext {
  readonly store: Store
  readonly systemStore: ScopedStore
  /** Undefined: no rules are declared, and every requester may do everything. */
  readonly policy: AccessPolicy | undefined
  /** Given where a model has hooks that run within transactions. */
  readonly statementHooks: Omit<WithinCaller, 'requester'> | undefined
}

export function authorizationFor(
  { store, systemStore, policy, statementHooks }: AuthorizationContext,
  requester: Requester,
): Authorization {
  const access = policy?.for(requester)
  if (!statementHooks) return { requester, access, store: access ? restrictStore(store, access) : systemStore }
  const hooked = hookedStore(store, { ...statementHooks, requester })
  return { requester, access, store: access ? restrictStore(hooked, access) : scopedBySystem(hooked) }
}

/** Throws E_FORBIDDEN for what the rules never allow the requester, whichever record it concerns. */
export function assertAllowed({ action }: Operation, { model, association }: Target, access: Access): void {
  if (action === undefined) return
  for (const concerned of association && action === 'read' ? [model, association.target] : [model])
    if (access.verdict(action, originalOf(concerned)) === false) throw forbidden(action, concerned)
}
