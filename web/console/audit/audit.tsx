import { useEffect, useRef, useState } from 'preact/hooks';
import { Alert } from '../../shared/live-region.tsx';
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
import { connectionState } from '../session/connection.ts';
import { call } from '../session/moderation-api.ts';
import { type Entry, toItemId } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatTime, fullTime } from '../words/format.ts';
import { actorName, eventText, isSubjectType } from '../words/labels.ts';
import { AuditFilters, showAudit } from './audit-filters.tsx';
import { Rewind } from './rewind.tsx';

interface Page {
  entries: Entry[];
  next_cursor: string | null;
}

/** The audit log, ordered by log position, newest first. */
export function Audit() {
  const { moderator, policy, subject } = placeState().filters;
  const query = toParams({ moderator, policy, subject }).toString();
  const { entries, cursor, fault, loading, read } = useEntries(query);
  const [rewinding, setRewinding] = useState<{ id: string; name: string } | null>(null);
  const rewindable = useRewindable(entries);
  return (
    <section class="page" aria-labelledby="page-title">
      <div class="list-line">
        <h2 id="page-title" tabIndex={-1}>
          Audit
        </h2>
        <div class="row-buttons">
          {rewindable && (
            <button type="button" class="button" onClick={() => setRewinding(rewindable)}>
              Rewind…
            </button>
          )}
          <button type="button" class="button" onClick={() => void read(null)}>
            Refresh
          </button>
          <a
            class="button"
            href={`/api/moderation/audit?format=ndjson&${query}`}
            download="audit.ndjson"
          >
            Download {query === '' ? 'all' : 'these'}
          </a>
        </div>
      </div>
      <AuditFilters entries={entries} />
      {fault && <Alert>{fault}</Alert>}
      <EntriesTable entries={entries} />
      {entries.length === 0 && !fault && (
        <p class="hint">{loading ? 'Loading…' : 'No entries match the filters.'}</p>
      )}
      {cursor && (
        <button type="button" class="button more" onClick={() => void read(cursor)}>
          Older entries
        </button>
      )}
      {rewinding && (
        <Rewind
          moderator={rewinding}
          onClose={() => setRewinding(null)}
          onDone={() => void read(null)}
        />
      )}
    </section>
  );
}

/** The moderator by whom the audit is filtered, for a lead, unless it is the lead or several have the name. */
function useRewindable(entries: readonly Entry[]): { id: string; name: string } | null {
  const { me } = connectionState();
  const { filters } = placeState();
  if (me?.role !== 'lead' || !filters.moderator) return null;
  const names = new Map(
    entries.flatMap(({ actor: { type, id, name = '' } }) =>
      type === 'moderator' && id ? [[id, name] as const] : [],
    ),
  );
  const [moderator, ...others] = names;
  if (!moderator || others.length > 0 || moderator[0] === me.id) return null;
  return { id: moderator[0], name: moderator[1] || 'the moderator' };
}

/** Reads the entries that match a query, page by page, starting again when the query changes. */
function useEntries(query: string) {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [loading, setLoading] = useState(true);
  const lastRequest = useRef(0);
  const read = async (after: string | null) => {
    const request = ++lastRequest.current;
    setLoading(true);
    try {
      const params = new URLSearchParams(query);
      if (after) params.set('cursor', after);
      const page = await call<Page>('GET', `audit?order=newest&limit=50&${params}`);
      // Drop this answer if a newer request has been sent.
      if (request !== lastRequest.current) return;
      setEntries((before) => (after ? [...before, ...page.entries] : page.entries));
      setCursor(page.next_cursor);
      setFault(null);
    } catch (error) {
      if (request === lastRequest.current) setFault(failureText(toFailure(error)));
    }
    if (request === lastRequest.current) setLoading(false);
  };
  useEffect(() => void read(null), [query]);
  return { entries, cursor, fault, loading, read };
}

function EntriesTable({ entries }: { entries: readonly Entry[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll
    <section class="table-scroll" tabIndex={0} aria-label="Entries">
      <table class="audit">
        <thead>
          <tr>
            <th scope="col">
              <abbr title="Position in the log">#</abbr>
            </th>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Subject</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>{entry.position}</td>
              <td title={fullTime(entry.occurred_at)}>{formatTime(entry.occurred_at)}</td>
              <td>
                <Who actor={entry.actor} />
              </td>
              <td>{eventText(entry.type)}</td>
              <td>
                <SubjectCell subject={entry.subject} />
              </td>
              <td class="details-cell">
                <Details entry={entry} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A link that narrows the audit. */
function Narrow({ to, children }: { to: Partial<Filters>; children: string }) {
  return (
    <a
      href={viewAddress('audit', { ...NO_FILTERS, ...to })}
      onClick={onPlainClick(() => showAudit(to))}
    >
      <bdi>{children}</bdi>
    </a>
  );
}

function Who({ actor }: Pick<Entry, 'actor'>) {
  if (actor.type !== 'moderator' || !actor.id) return <bdi>{actorName(actor)}</bdi>;
  return <Narrow to={{ moderator: actor.name ?? actor.id }}>{actorName(actor)}</Narrow>;
}

function SubjectCell({ subject: { type, id } }: Pick<Entry, 'subject'>) {
  if (type === 'policy')
    return (
      <a href={viewAddress('policies')} onClick={onPlainClick(() => showView('policies'))}>
        policy {id}
      </a>
    );
  const short = (
    <span class="code" title={id}>
      {id.slice(0, 8)}
    </span>
  );
  if (!isSubjectType(type))
    return (
      <>
        {type} {short}
      </>
    );
  const itemId = toItemId({ type, id });
  return (
    <a href={itemAddress(itemId)} onClick={onPlainClick(() => openItem(itemId))}>
      {type} {short}
    </a>
  );
}

const DETAIL_NAMES = [
  'policy',
  'kind',
  'reason',
  'role',
  'active',
  'until',
  'band',
  'name',
  'code',
];

function Details({ entry: { data } }: { entry: Entry }) {
  const details = Object.entries(data).filter(
    ([name, value]) => DETAIL_NAMES.includes(name) && value !== null,
  );
  return (
    <>
      {details.map(([name, value], index) => (
        <span key={name}>
          {index > 0 && ', '}
          {name}{' '}
          {name === 'policy' ? (
            <Narrow to={{ policy: String(value) }}>{String(value)}</Narrow>
          ) : name === 'until' ? (
            <span title={fullTime(String(value))}>{formatTime(String(value))}</span>
          ) : (
            String(value)
          )}
        </span>
      ))}
    </>
  );
}
