import type { NewEvent } from '../../../platform/eventstore/event.ts';
import { type Refusal, refuse, wrongVersion } from '../../../platform/refusal.ts';
import type * as events from '../events.ts';

/** Owner of streams that are nobody's in particular. */
export const EVERYBODY = '00000000-0000-4000-8000-000000000000';

export interface PolicyState {
  title: string | null;
  text: string | null;
  active: boolean;
  version: number;
}

export interface ChangePolicy {
  code: string;
  title: string;
  text: string;
  active: boolean;
  /** The version that was read; 0 for a policy that must be new. */
  expectedVersion: number | undefined;
}

/** Versions rise by one, whoever began: a policy of the defaults, or a new one. */
export function changePolicy(
  state: PolicyState | undefined,
  { code, title, text, active, expectedVersion }: ChangePolicy,
): NewEvent<typeof events.PolicyChanged>[] | Refusal<'state_conflict'> {
  const current = state?.version ?? 0;
  if (expectedVersion !== undefined && expectedVersion !== current)
    return wrongVersion({ version: current });
  if (state?.title === title && state.text === text && state.active === active) return [];
  return [
    {
      type: 'PolicyChanged',
      data: { code, version: current + 1, active },
      personal: { title, text },
    },
  ];
}

/** What a rejection or a removal is refused with where its policy is unknown or not in force. */
export function refuseUnlessActive(
  policy: { active: boolean } | undefined,
): Refusal<'invalid_request'> | null {
  if (policy?.active) return null;
  return refuse('invalid_request', {
    issues: [{ path: 'policy', message: 'must be the code of an active policy' }],
  });
}
