import { useEffect, useRef, useState } from 'preact/hooks';
import { call, toFailure } from './api.ts';
import type { Entry } from './api-model.ts';
import { failureText } from './failure-text.ts';
import { formatTime, fullTime } from './format.ts';
import { actorName, eventText } from './labels.ts';

interface Page {
  entries: Entry[];
  next_cursor: string | null;
}

/** The audit log, ordered by log position, newest first. */
export function Audit() {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const lastRequest = useRef(0);
  const read = async (after: string | null) => {
    const request = ++lastRequest.current;
    try {
      const place = after ? `&cursor=${encodeURIComponent(after)}` : '';
      const page = await call<Page>('GET', `audit?order=newest&limit=50${place}`);
      // Drop this answer if a newer request has been sent.
      if (request !== lastRequest.current) return;
      setEntries((before) => (after ? [...before, ...page.entries] : page.entries));
      setCursor(page.next_cursor);
      setFault(null);
    } catch (error) {
      if (request === lastRequest.current) setFault(failureText(toFailure(error)));
    }
  };
  useEffect(() => void read(null), []);
  return (
    <section class="page" aria-labelledby="page-title">
      <div class="list-line">
        <h2 id="page-title" tabIndex={-1}>
          Audit
        </h2>
        <div class="row-buttons">
          <button type="button" class="button" onClick={() => void read(null)}>
            Refresh
          </button>
          <a class="button" href="/api/moderation/audit?format=ndjson" download="audit.ndjson">
            Download all
          </a>
        </div>
      </div>
      {fault && (
        <p class="box bad" role="alert">
          {fault}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll */}
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
                  <bdi>{actorName(entry.actor)}</bdi>
                </td>
                <td>{eventText(entry.type)}</td>
                <td>
                  {entry.subject.type}{' '}
                  <span class="code" title={entry.subject.id}>
                    {entry.subject.id.slice(0, 8)}
                  </span>
                </td>
                <td class="details-cell">{detailsText(entry)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {entries.length === 0 && !fault && <p class="hint">Loading…</p>}
      {cursor && (
        <button type="button" class="button more" onClick={() => void read(cursor)}>
          Older entries
        </button>
      )}
    </section>
  );
}

const DETAIL_NAMES = ['policy', 'reason', 'role', 'active', 'until', 'band', 'name', 'code'];

const detailsText = ({ data }: Entry): string =>
  Object.entries(data)
    .filter(([name, value]) => DETAIL_NAMES.includes(name) && value !== null)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
