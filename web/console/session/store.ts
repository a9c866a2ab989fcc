import { useEffect, useReducer } from 'preact/hooks';

const listeners = new Set<() => void>();
const resets = { view: [] as (() => void)[], session: [] as (() => void)[] };

interface Fields<Page, Session, View> {
  /** Fields that stay as long as the page. */
  page?: Page;
  /** Fields that go back to these values when another moderator signs in. */
  session?: Session;
  /** Fields that go back to these values when another view is shown. */
  view?: View;
}

/**
 * Creates a state from its first values: called, it returns its present fields; `set` replaces some of
 * them. Only the folder that creates a state sets it.
 */
export function createState<
  Page extends object = object,
  Session extends object = object,
  View extends object = object,
>({ page, session, view }: Fields<Page, Session, View>) {
  type State = Page & Session & View;
  let state = { ...page, ...session, ...view } as State;
  const set = (patch: Partial<State>): void => {
    state = { ...state, ...patch };
    for (const listener of listeners) listener();
  };
  resets.view.push(() => set({ ...view } as Partial<State>));
  resets.session.push(() => set({ ...session } as Partial<State>));
  return Object.assign(() => state, { set });
}

/** Resets what belongs to the shown view, in the states of all folders. */
export function resetView(): void {
  for (const reset of resets.view) reset();
}

/** Resets what belongs to a moderator, so that no data of the session remains. */
export function resetSession(): void {
  resetView();
  for (const reset of resets.session) reset();
}

/** Calls the listener after each change of a state. Returns how to stop. */
export function onStateChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Renders a component, with all that it contains, after each change of a state: the others only read
 * their states. Returns how to render it without a change.
 */
export function useStates(): () => void {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  const render = () => redraw(undefined);
  useEffect(() => {
    render();
    return onStateChange(render);
  }, []);
  return render;
}

/** Copies a map with the entry set, or deleted if the value is undefined. */
export function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V | undefined) {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}
