import { useEffect } from 'preact/hooks';
import { loadPolicies } from './policy-list.ts';
import { store } from './state.ts';
import { useStore } from './store.ts';

/** Says why there is no policy to choose, and loads the policies if the last attempt failed. */
export function NoPolicy() {
  const { policiesRead } = useStore(store);
  useEffect(() => {
    if (!policiesRead) void loadPolicies();
  }, []);
  return (
    <p class="box look">{policiesRead ? 'No policy is in force.' : 'Loading the policies…'}</p>
  );
}
