import type { NewEvent } from '../../platform/eventstore/event.ts';
import { type Refusal, refuse } from '../../platform/refusal.ts';
import { wrongVersion } from '../conflict.ts';
import type * as events from './events.ts';

export interface PolicyState {
  title: string | null;
  text: string | null;
  active: boolean;
  version: number;
  messages: readonly string[];
}

export interface ChangePolicy {
  code: string;
  title: string;
  text: string;
  active: boolean;
  /** The prepared messages to authors; undefined keeps them as they are. */
  messages: readonly string[] | undefined;
  /** The version that the caller read; 0 if the policy must be new. */
  expectedVersion: number | undefined;
}

/** Each change raises the version by one, of a default policy as well as of a new one. */
export function changePolicy(
  state: PolicyState | undefined,
  { code, title, text, active, messages: wanted, expectedVersion }: ChangePolicy,
): NewEvent<typeof events.PolicyChanged>[] | Refusal<'state_conflict'> {
  const current = state?.version ?? 0;
  if (expectedVersion !== undefined && expectedVersion !== current)
    return wrongVersion({ version: current });
  const messages = [...(wanted ?? state?.messages ?? [])];
  const sameMessages = messages.join('\0') === state?.messages.join('\0');
  if (state?.title === title && state.text === text && state.active === active && sameMessages)
    return [];
  return [
    {
      type: 'PolicyChanged',
      data: { code, version: current + 1, active },
      personal: { title, text, ...(messages.length > 0 ? { messages } : {}) },
    },
  ];
}

/** Refuses a rejection or removal whose policy is unknown or inactive; null if it is active. */
export function refuseUnlessActive(
  policy: { active: boolean } | undefined,
): Refusal<'invalid_request'> | null {
  if (policy?.active) return null;
  return refuse('invalid_request', {
    issues: [{ path: 'policy', message: 'must be the code of an active policy' }],
  });
}
