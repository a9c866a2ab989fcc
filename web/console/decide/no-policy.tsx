import { useEffect } from 'preact/hooks';
import { loadPolicies, policyState } from './policy-list.ts';

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
