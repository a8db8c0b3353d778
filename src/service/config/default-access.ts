import type { AccessDefinition } from '../../model/access-rules.ts'
import type { AnyConfig } from './config.ts'

/** The rules of models that declare none. `shadow` alone is not a rule: it declares no access. */
export function defaultRules({ access }: AnyConfig): AccessDefinition | undefined {
  if (access === undefined || access === 'public') return access
  const { shadow, ...rules } = access
  return Object.keys(rules).length > 0 || shadow === undefined ? rules : undefined
}

/** The share of answers whose rules are evaluated a second time. */
export const shadowShare = ({ access }: AnyConfig): number => (typeof access === 'object' ? (access.shadow ?? 0) : 0)
