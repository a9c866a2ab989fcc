import { call } from '../session/moderation-api.ts';
import { get, set } from '../session/state.ts';
import type { Policy } from '../words/api-model.ts';

export async function loadPolicies(): Promise<void> {
  try {
    const { policies } = await call<{ policies: Policy[] }>('GET', 'policies');
    set({ policies, policiesRead: true });
  } catch {
    // `NoPolicy` loads the policies again when a choice is needed.
  }
}

export const activePolicies = (): Policy[] => get().policies.filter(({ active }) => active);

export const findPolicy = (code: string | null | undefined): Policy | undefined =>
  get().policies.find((policy) => policy.code === code);

/** The title in lower case, for use within a sentence. */
export const policyTitle = (code: string): string =>
  findPolicy(code)?.title.toLowerCase() ?? code.replaceAll('_', ' ');
