import { VIEWS } from '../../../domain/moderation/words.ts';
import { isList, PAGES, type View } from '../words/api-model.ts';

/** Filters that a view can be saved with; they name no author and no item. */
export const LASTING_FILTERS = [
  'q',
  'finding',
  'older_than',
  'experience',
  'reason',
  'type',
  'policy',
  'decided_by',
  'state',
  'script',
  'author_record',
  'sort',
] as const;
const LIST_FILTERS = [...LASTING_FILTERS, 'author', 'same_address_as', 'like'] as const;
const AUDIT_FILTERS = ['moderator', 'policy', 'subject'] as const;

/** Of the lists and of the audit; an empty text does not filter. */
export type Filters = Record<(typeof LIST_FILTERS | typeof AUDIT_FILTERS)[number], string>;

export const NO_FILTERS: Filters = {
  q: '',
  author: '',
  finding: '',
  older_than: '',
  same_address_as: '',
  like: '',
  experience: '',
  reason: '',
  type: '',
  decided_by: '',
  state: '',
  script: '',
  author_record: '',
  sort: '',
  moderator: '',
  policy: '',
  subject: '',
};

/** What an address names: a view with its filters, and perhaps one item beside the view. */
export interface Place {
  view: View;
  filters: Filters;
  linkedId: string | null;
}

const ITEMS = '/moderation/items/';

/** The filters that are set, as query parameters. */
export const toParams = (filters: Partial<Filters>): URLSearchParams =>
  new URLSearchParams(Object.entries(filters).filter(([, value]) => value));

export const viewAddress = (view: View, filters: Filters = NO_FILTERS): string => {
  const query = toParams(filters);
  const path = view === 'todo' ? '/moderation' : `/moderation/${view}`;
  return query.size > 0 ? `${path}?${query}` : path;
};

export const toAddress = ({ view, filters, linkedId }: Place): string =>
  linkedId ? itemAddress(linkedId) : viewAddress(view, filters);

export const itemAddress = (itemId: string): string => `${ITEMS}${itemId}`;

const namesOf = (view: View): readonly (keyof Filters)[] => {
  if (view === 'audit') return AUDIT_FILTERS;
  if (view === 'search') return ['q'];
  return isList(view) ? LIST_FILTERS : [];
};

/** The place of an address; an unknown view is the view `todo`. */
export function readAddress({ pathname, search }: Pick<URL, 'pathname' | 'search'>): Place {
  if (pathname.startsWith(ITEMS))
    return { view: 'todo', filters: NO_FILTERS, linkedId: pathname.slice(ITEMS.length) };
  const view = [...VIEWS, ...PAGES].find((one) => pathname === `/moderation/${one}`) ?? 'todo';
  const query = new URLSearchParams(search);
  const names = namesOf(view);
  const filters = Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']));
  return { view, filters: { ...NO_FILTERS, ...filters }, linkedId: null };
}

/** Adds a history entry, unless it is the address already. */
export function pushAddress(address: string): void {
  if (location.pathname + location.search !== address) history.pushState(null, '', address);
}

/** Handles a plain click on a link in the page; others open a tab or a window. */
export const onPlainClick = (go: () => void) => (event: MouseEvent) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0)
    return;
  event.preventDefault();
  go();
};
