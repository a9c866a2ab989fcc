import { useEffect } from 'preact/hooks';
import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import type { Policy } from '../words/api-model.ts';

export const policyState = createState({
  page: { policies: [] as readonly Policy[], policiesRead: false },
});

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

/** Says why there is no policy to choose, and loads the policies if the last attempt failed. */
export function NoPolicy() {
  const { policiesRead } = policyState();
  useEffect(() => {
    if (!policiesRead) void loadPolicies();
  }, []);
  return (
    <p class="box look">{policiesRead ? 'No policy is in force.' : 'Loading the policies…'}</p>
  );
}
