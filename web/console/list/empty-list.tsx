import { useEffect, useState } from 'preact/hooks';
import { serviceNow } from '../../shared/time.tsx';
import { countState } from '../queue/counts.ts';
import { currentList, placeState, queueState } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { call } from '../session/moderation-api.ts';
import type { QueueBody, Stats } from '../words/api-model.ts';
import { formatTime, fullTime, plural } from '../words/format.ts';

interface QueueSigns {
  last: string | null;
  screening: number;
  dead: number;
  at: Date;
}

/** Several items, because a profile that was published again carries no decision. */
const SAMPLE_SIZE = 5;

/** Reads signs of life, which show that the queue is empty and not broken. */
async function readSigns(): Promise<QueueSigns> {
  const from = encodeURIComponent(new Date(serviceNow() - 60_000).toISOString());
  const [decided, { jobs }] = await Promise.all([
    call<QueueBody>('GET', `queue?view=decided&limit=${SAMPLE_SIZE}`),
    call<Stats>('GET', `stats?from=${from}`),
  ]);
  return {
    last: decided.items.find(({ decision }) => decision)?.decision?.decided_at ?? null,
    screening: jobs.screening,
    dead: jobs.dead,
    at: new Date(),
  };
}

export function EmptyList() {
  const { filters } = placeState();
  const { nextCursor } = queueState();
  const { counts } = countState();
  const { stream } = connectionState();
  const view = currentList();
  const filtered = Object.values(filters).some(Boolean);
  const [signs, setSigns] = useState<QueueSigns | null>(null);
  useEffect(() => {
    let unmounted = false;
    const load = () => {
      readSigns().then(
        (found) => {
          if (!unmounted) setSigns(found);
        },
        () => undefined,
      );
    };
    load();
    const timer = setInterval(load, 30_000);
    return () => {
      unmounted = true;
      clearInterval(timer);
    };
  }, [view, counts?.todo]);
  return (
    <div class="empty">
      <p class="empty-title">{filtered ? NO_MATCH[nextCursor ? 'yet' : 'end'] : EMPTY[view]}</p>
      {signs && (
        <dl class="signs">
          <div>
            <dt>Last decision</dt>
            <dd>
              {signs.last ? (
                <time dateTime={signs.last}>{formatTime(signs.last)}</time>
              ) : (
                'none yet'
              )}
            </dd>
          </div>
          <div>
            <dt>Screening</dt>
            <dd>
              {signs.screening
                ? `${plural(signs.screening, 'note')} not screened yet`
                : 'up to date'}
            </dd>
          </div>
          {signs.dead > 0 && (
            <div>
              <dt>Failed jobs</dt>
              <dd>{plural(signs.dead, 'job')}; tell the operator</dd>
            </div>
          )}
          <div>
            <dt>Last checked</dt>
            <dd title={fullTime(signs.at)}>
              {formatTime(signs.at)}
              {stream === 'live' ? ', updating live' : ''}
            </dd>
          </div>
        </dl>
      )}
    </div>
  );
}

const NO_MATCH = { yet: 'No matches yet. Load more to continue.', end: 'No matches.' };

const EMPTY: Record<ReturnType<typeof currentList>, string> = {
  todo: 'The queue is clear.',
  mine: 'You have no claims.',
  escalated: 'Nothing is escalated.',
  deferred: 'Nothing is deferred.',
  reported: 'Nothing is reported.',
  appeals: 'There are no open appeals.',
  decided: 'Nothing has been decided yet.',
};
