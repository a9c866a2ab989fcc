import type { Entry } from '../../proof/history.ts';
import type { EventFact, LogFacts, ReceiptFact } from '../../proof/log-facts.ts';

let lastId = 0;
/** A unique id. */
const uniqueId = (kind: string) => `${kind}-${++lastId}`;

/** An operation, by default done at its first attempt after 10 ms. */
export function entry(of: Partial<Entry>): Entry {
  const { invoked = 1000 } = of;
  return {
    operation: 'case.create',
    actor: 'ann',
    address: '10.0.0.1',
    key: uniqueId('key'),
    subject: null,
    credential: null,
    invoked,
    answered: invoked + 10,
    lost: 0,
    outcome: 'done',
    status: 201,
    changed: true,
    events: [],
    ...of,
  };
}

export function event(of: Partial<EventFact>): EventFact {
  const position = ++lastId;
  return {
    position,
    id: uniqueId('event'),
    owner: 'ann',
    stream: uniqueId('stream'),
    version: 1,
    type: 'CaseOpened',
    data: {},
    actor: 'member',
    at: 1005,
    ...of,
  };
}

export function receiptFor(
  { key, operation, actor }: Entry,
  events: readonly EventFact[],
  more: Partial<ReceiptFact> = {},
): ReceiptFact {
  return {
    owner: actor,
    space: 'api',
    key: key ?? '',
    operation,
    events: events.map(({ id }) => id),
    at: events[0]?.at ?? 1005,
    ...more,
  };
}

export const logFacts = (of: Partial<LogFacts>): LogFacts => ({
  events: [],
  receipts: [],
  feed: [],
  ...of,
});

/** A valid operation with its receipt and one event. */
export function recordedOperation(of: Partial<Entry>, what: Partial<EventFact> = {}) {
  const recorded = event({ owner: of.actor ?? 'ann', ...what });
  const attempt = entry({ events: [recorded.id], ...of });
  return { attempt, recorded, receipt: receiptFor(attempt, [recorded]) };
}
