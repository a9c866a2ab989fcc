import { useEffect, useRef, useState } from 'preact/hooks';
import { call as callPublic } from '../../shared/api.ts';
import {
  type Filters,
  itemAddress,
  NO_FILTERS,
  onPlainClick,
  toParams,
  viewAddress,
} from '../queue/address.ts';
import { openItem, showView } from '../queue/navigation.ts';
import { placeState } from '../queue/queue-state.ts';
import { call } from '../session/moderation-api.ts';
import {
  type Entry,
  type Item,
  type QueueBody,
  type Subject,
  toItemId,
  type View,
  withItemId,
} from '../words/api-model.ts';
import { type Failure, failureText, toFailure } from '../words/failure.ts';
import { formatTime } from '../words/format.ts';
import { excerptAround } from '../words/hits.ts';
import {
  authorName,
  eventText,
  isErased,
  isSubjectType,
  kindName,
  toExcerpt,
} from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { SearchInput, useTypingPause } from './search-input.tsx';

/** How many results each part shows; a link leads to the rest. */
const SHOWN = 5;
const MAX_EXCERPT_LENGTH = 140;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface Line {
  id: string;
  /** The item that the line opens; null for an entry of the audit on no item. */
  itemId: string | null;
  title: string;
  text: string;
}

interface Answer {
  lines: Line[];
  /** Whether there are more than those shown, or may be. */
  more: boolean;
}

interface Part {
  title: string;
  read: (q: string) => Promise<Answer>;
  /** Where the rest is. */
  rest?: (q: string) => { view: View; filters: Filters };
}

const filtersOf = (some: Partial<Filters>): Filters => ({ ...NO_FILTERS, ...some });

/** What can be searched, each by a request of its view, so that a part costs as much as a page of that. */
const PARTS: readonly Part[] = [
  list('Waiting', 'todo', (q) => ({ q })),
  list('Decided', 'decided', (q) => ({ q })),
  list('Decided, by an author of this name', 'decided', (author) => ({ author })),
  list('Reported, by an author of this name', 'reported', (author) => ({ author })),
  { title: 'Public members, packets and cases', read: readPublic },
  {
    title: 'Decisions of a moderator of this name',
    read: (moderator) => readAudit({ moderator }),
    rest: (moderator) => ({ view: 'audit', filters: filtersOf({ moderator }) }),
  },
];

const BY_ID: readonly Part[] = [
  { title: 'The item with this id', read: readItem },
  {
    title: 'Decisions and events on this id',
    read: (subject) => readAudit({ subject }),
    rest: (subject) => ({ view: 'audit', filters: filtersOf({ subject }) }),
  },
  ...PARTS.filter(({ title }) => title.includes('by an author')),
];

function list(
  title: string,
  view: 'todo' | 'decided' | 'reported',
  toFilters: (q: string) => Partial<Filters>,
): Part {
  return {
    title,
    async read(q) {
      const filters = toFilters(q);
      const params = toParams({ ...filters });
      const { items, next_cursor } = await call<QueueBody>(
        'GET',
        `queue?view=${view}&limit=${SHOWN}&${params}`,
      );
      return { lines: items.map((item) => toLine(item, q)), more: next_cursor !== null };
    },
    rest: (q) => ({ view, filters: filtersOf(toFilters(q)) }),
  };
}

function toLine(given: Item, q: string): Line {
  const item = withItemId(given);
  return {
    id: item.id,
    itemId: item.id,
    title: `${kindName(item)} by ${authorName(item)}, ${item.state}`,
    text: isErased(item) ? 'erased' : excerptAround(toExcerpt(item), q, MAX_EXCERPT_LENGTH),
  };
}

const PUBLIC_KINDS = {
  member: ['Member', 'profile'],
  artifact: ['Packet', 'artifact'],
  case: ['Case', 'case'],
} as const satisfies Record<string, readonly [string, Subject['type']]>;

interface PublicResult {
  kind: keyof typeof PUBLIC_KINDS;
  id: string;
  title: string;
  excerpt: string;
}

/** Notes are left out: they are among the decided ones. */
async function readPublic(q: string): Promise<Answer> {
  const kinds = Object.keys(PUBLIC_KINDS).map(async (type) => {
    const params = new URLSearchParams({ q, type, limit: String(SHOWN) });
    const answer = await callPublic<{ results: PublicResult[]; next_cursor: string | null }>(
      'GET',
      `/api/v1/search?${params}`,
    );
    return answer.kind === 'ok' ? answer.body : { results: [], next_cursor: null };
  });
  const found = await Promise.all(kinds);
  const lines = found.flatMap(({ results }) =>
    results.map(({ kind, id, title, excerpt }) => {
      const [name, type] = PUBLIC_KINDS[kind];
      const itemId = toItemId({ type, id });
      return { id: itemId, itemId, title: `${name}: ${title}`, text: excerpt };
    }),
  );
  return { lines, more: found.some(({ next_cursor }) => next_cursor !== null) };
}

async function readAudit(filters: Partial<Filters>): Promise<Answer> {
  const { entries, next_cursor } = await call<{ entries: Entry[]; next_cursor: string | null }>(
    'GET',
    `audit?order=newest&limit=${SHOWN}&${toParams(filters)}`,
  );
  const lines = entries.map(({ id, type, occurred_at, subject, actor }) => ({
    id,
    itemId: isSubjectType(subject.type) ? toItemId({ type: subject.type, id: subject.id }) : null,
    title: `${eventText(type)} ${formatTime(occurred_at)}`,
    text: `${subject.type} ${subject.id}${actor.name ? `, by ${actor.name}` : ''}`,
  }));
  return { lines, more: next_cursor !== null };
}

const VIEWS_BY_ID = ['todo', 'escalated', 'deferred', 'decided', 'reported', 'appeals'] as const;
const RECORD_TYPES = ['profile', 'artifact', 'case', 'case_note', 'member'] as const;

interface PublicRecord {
  title?: string;
  display_name?: string;
}

/** Finds what an id belongs to: in the lists, and among the public records. No request fails for an unknown id. */
async function readItem(given: string): Promise<Answer> {
  const id = given.toLowerCase();
  const only = [id, ...RECORD_TYPES.map((type) => toItemId({ type, id }))].join(',');
  const listed = VIEWS_BY_ID.map(async (view) => {
    const { items } = await call<QueueBody>('GET', `queue?view=${view}&only=${only}`);
    return items.map((item) => toLine(item, ''));
  });
  const published = (['agents', 'artifacts', 'cases'] as const).map(async (name) => {
    const answer = await callPublic<Partial<Record<typeof name, PublicRecord[]>>>(
      'GET',
      `/api/v1/${name}?ids=${id}`,
    );
    const records = answer.kind === 'ok' ? (answer.body[name] ?? []) : [];
    const [kind, type] = PUBLIC_KINDS[BY_LIST[name]];
    const itemId = toItemId({ type, id });
    return records.map(({ title, display_name }) => ({
      id: itemId,
      itemId,
      title: `${kind}: ${title ?? display_name ?? ''}`,
      text: '',
    }));
  });
  const lines = (await Promise.all([...listed, ...published])).flat();
  return { lines: [...new Map(lines.map((line) => [line.id, line])).values()], more: false };
}

const BY_LIST = { agents: 'member', artifacts: 'artifact', cases: 'case' } as const;

/** One search over all views: each part finds notes, records, members or decisions in its own way. */
export function SearchAll() {
  const { q } = placeState().filters;
  const parts = UUID.test(q) ? BY_ID : PARTS;
  return (
    <section class="page" aria-labelledby="page-title">
      <h2 id="page-title" tabIndex={-1}>
        Search
      </h2>
      <Words />
      {q === '' ? (
        <p class="hint">
          Words of a text, the name of an author or moderator, a handle, or an id. Texts that were
          erased are found by nothing.
        </p>
      ) : (
        parts.map((part) => <Found key={part.title} part={part} q={q} />)
      )}
    </section>
  );
}

function Words() {
  const form = useRef<HTMLFormElement>(null);
  const pause = useTypingPause();
  const search = () => {
    pause.cancel();
    const text = form.current?.q.value.trim() ?? '';
    if (text !== placeState().filters.q)
      showView('search', filtersOf({ q: text }), { replace: true });
  };
  return (
    <search>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <SearchInput
          label="Search everything"
          placeholder="Words, a name, a handle or an id"
          maxLength={100}
          class="everything"
          onTyped={() => pause.soon(search)}
        />
      </form>
    </search>
  );
}

function Found({ part, q }: { part: Part; q: string }) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [fault, setFault] = useState<Failure | null>(null);
  useEffect(() => {
    let dropped = false;
    setAnswer(null);
    setFault(null);
    part.read(q).then(
      (found) => {
        if (!dropped) setAnswer(found);
      },
      (error) => {
        if (!dropped) setFault(toFailure(error));
      },
    );
    return () => {
      dropped = true;
    };
  }, [part, q]);
  const rest = part.rest?.(q);
  const count = answer ? ` (${answer.lines.length}${answer.more ? ' or more' : ''})` : '';
  return (
    <section class="found" aria-busy={!answer && !fault}>
      <h3>
        {part.title}
        {count}
      </h3>
      {!answer && !fault && <p class="hint">Searching…</p>}
      {fault && <p class="hint">{failureText(fault)}</p>}
      {answer?.lines.length === 0 && (
        <p class="hint">Nothing{answer.more && ' on the first page'}.</p>
      )}
      <ul>
        {answer?.lines.map((line) => (
          <li key={line.id}>
            <FoundLine line={line} q={q} />
          </li>
        ))}
      </ul>
      {rest && answer?.more && (
        <a
          href={viewAddress(rest.view, rest.filters)}
          onClick={onPlainClick(() => showView(rest.view, rest.filters))}
        >
          All of them<span class="visually-hidden">: {part.title}</span>
        </a>
      )}
    </section>
  );
}

function FoundLine({ line: { itemId, title, text }, q }: { line: Line; q: string }) {
  const name = <MarkedText text={title} query={q} />;
  return (
    <>
      {itemId ? (
        <a href={itemAddress(itemId)} onClick={onPlainClick(() => openItem(itemId))}>
          {name}
        </a>
      ) : (
        name
      )}
      <span class="excerpt">
        <MarkedText text={text} query={q} />
      </span>
    </>
  );
}
