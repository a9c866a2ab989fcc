import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import type { Policy } from '../words/api-model.ts';

interface Policies {
  policies: readonly Policy[];
  policiesRead: boolean;
}

export const policyState = createState<Policies>({ policies: [], policiesRead: false });

export async function loadPolicies(): Promise<void> {
  try {
    const { policies } = await call<{ policies: Policy[] }>('GET', 'policies');
    policyState.set({ policies, policiesRead: true });
  } catch {
    // `NoPolicy` loads the policies again when a choice is needed.
  }
}

export const activePolicies = (): Policy[] => policyState().policies.filter(({ active }) => active);

export const findPolicy = (code: string | null | undefined): Policy | undefined =>
  policyState().policies.find((policy) => policy.code === code);

/** The title in lower case, for use within a sentence. */
export const policyTitle = (code: string): string =>
  findPolicy(code)?.title.toLowerCase() ?? code.replaceAll('_', ' ');
