import { useEffect } from 'preact/hooks';
import { store } from '../session/state.ts';
import { useStore } from '../session/store.ts';
import { loadPolicies } from './policy-list.ts';

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
