import { useEffect } from 'preact/hooks';
import { loadPolicies } from './policy-list.ts';
import { store } from './state.ts';
import { useStore } from './store.ts';

/** Why there is no policy to choose. What could not be read before is asked for again. */
export function NoPolicy() {
  const { policiesRead } = useStore(store);
  useEffect(() => {
    if (!policiesRead) void loadPolicies();
  }, []);
  return (
    <p class="box look">{policiesRead ? 'No policy is in force.' : 'Reading the policies…'}</p>
  );
}
