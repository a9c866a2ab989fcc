import type pg from 'pg';
import type { Week } from '../../services/transparency/contract.ts';

interface LoggedEvent {
  event_id: string;
  owner_id: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: facts of every type of event
  data: any;
  recorded_at: Date;
}

interface Counted {
  subject: 'notes' | 'records';
  outcome: string;
  policy?: string;
  at: Date;
  since?: Date | undefined;
}

const RECORD = /^(Profile|Artifact|Case|CaseNote)(Removed|Restored)$/;
const ON_NOTES: Readonly<Record<string, string>> = {
  NoteApproved: 'approved',
  NoteRejected: 'rejected',
  NoteRemoved: 'removed',
  NoteRestored: 'restored',
  ReportsDismissed: 'kept',
  AppealGranted: 'granted',
  AppealUpheld: 'upheld',
};

const recordOf = ({ type, owner_id, data }: LoggedEvent): string =>
  type.startsWith('Profile') ? owner_id : (data.note_id ?? data.case_id ?? data.artifact_id);

const mondayOf = (at: Date): string => {
  const day = new Date(at.toISOString().slice(0, 10));
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
};

/** Reads the log alone, and counts what the transparency page says of each week: by its Monday. */
export async function recountWeeks(pool: pg.Pool): Promise<Map<string, Omit<Week, 'week'>>> {
  const { rows: log } = await pool.query<LoggedEvent>('SELECT * FROM events ORDER BY position');
  const counted = decisionsIn(log);
  const opened = log.filter(({ type }) => type === 'AppealOpened');
  const mondays = new Set(
    [...counted, ...opened.map((e) => ({ at: e.recorded_at }))].map(({ at }) => mondayOf(at)),
  );
  return new Map(
    [...mondays].map((monday) => {
      const inWeek = counted.filter(({ at }) => mondayOf(at) === monday);
      const appeals = opened.filter(({ recorded_at }) => mondayOf(recorded_at) === monday).length;
      return [monday, { from: monday, ...summed(inWeek, appeals) }];
    }),
  );
}

/** Every decision that was not undone. */
function decisionsIn(log: readonly LoggedEvent[]): Counted[] {
  const undone = new Set<string>();
  const submitted = new Map<string, Date>();
  const reports = new Map<string, { id: string; at: Date }[]>();
  const settled = new Map<string, { id: string; at: Date }[]>();
  const found = new Map<string, Counted>();
  let lastUndo: LoggedEvent | undefined;
  const settle = (event: LoggedEvent, subject: string, is: (id: string) => boolean) => {
    const open = reports.get(subject) ?? [];
    const taken = open.filter(({ id }) => is(id));
    reports.set(
      subject,
      open.filter(({ id }) => !is(id)),
    );
    settled.set(event.event_id, taken);
    return taken.map(({ at }) => at).sort((a, b) => a.getTime() - b.getTime())[0];
  };
  for (const event of log) {
    const { event_id, type, data, recorded_at: at } = event;
    const outcome = ON_NOTES[type];
    const [, , onRecord] = RECORD.exec(type) ?? [];
    if (type === 'NoteSubmitted') submitted.set(data.note_id, at);
    if (type === 'RecordReported' && !data.silent)
      reports.set(data.subject.id, [
        ...(reports.get(data.subject.id) ?? []),
        { id: data.report_id, at },
      ]);
    if (type === 'DecisionUndone') {
      undone.add(data.of);
      lastUndo = event;
    }
    if (outcome) {
      const accompanies =
        type === 'NoteRestored' &&
        lastUndo?.data.note_id === data.note_id &&
        lastUndo?.recorded_at.getTime() === at.getTime();
      const since = /^(approved|rejected)$/.test(outcome) ? submitted.get(data.note_id) : undefined;
      if (!accompanies)
        found.set(event_id, { subject: 'notes', outcome, policy: data.policy, at, since });
    }
    if (type === 'RecordReportsDismissed') {
      const ids = data.reports.map((report: { report_id: string }) => report.report_id);
      const since = settle(event, data.subject.id, (id) => ids.includes(id));
      found.set(event_id, { subject: 'records', outcome: 'kept', at, since });
    }
    if (onRecord === 'Removed') {
      const since = settle(event, recordOf(event), () => true);
      found.set(event_id, {
        subject: 'records',
        outcome: 'removed',
        policy: data.policy,
        at,
        since,
      });
    }
    if (onRecord === 'Restored' && data.undone) {
      undone.add(data.of);
      const subject = recordOf(event);
      reports.set(subject, [...(reports.get(subject) ?? []), ...(settled.get(data.of) ?? [])]);
    } else if (onRecord === 'Restored')
      found.set(event_id, { subject: 'records', outcome: 'restored', at });
  }
  return [...found].filter(([id]) => !undone.has(id)).map(([, counted]) => counted);
}

const ANSWERS = ['removed', 'restored', 'kept'] as const;

function summed(decisions: readonly Counted[], opened: number) {
  const count = (is: (one: Counted) => boolean) => decisions.filter(is).length;
  const on = (subject: Counted['subject'], outcome: string) =>
    count((one) => one.subject === subject && one.outcome === outcome);
  const answersOn = (subject: Counted['subject']) =>
    Object.fromEntries(ANSWERS.map((outcome) => [outcome, on(subject, outcome)])) as {
      [Outcome in (typeof ANSWERS)[number]]: number;
    };
  const policies = [...new Set(decisions.flatMap(({ policy }) => policy ?? []))].sort();
  const seconds = decisions
    .flatMap(({ at, since }) =>
      since ? [Math.round((at.getTime() - since.getTime()) / 1000)] : [],
    )
    .map((age) => Number(String(age).slice(0, 2).padEnd(String(age).length, '0')))
    .sort((a, b) => a - b);
  const nth = (part: number) => seconds[Math.ceil(part * seconds.length) - 1] ?? 0;
  const appeals = { granted: on('notes', 'granted'), upheld: on('notes', 'upheld') };
  return {
    decisions: decisions.length - appeals.granted - appeals.upheld,
    notes: {
      approved: on('notes', 'approved'),
      rejected: on('notes', 'rejected'),
      ...answersOn('notes'),
    },
    records: answersOn('records'),
    policies: policies.map((policy) => ({
      policy,
      rejected: count((one) => one.policy === policy && one.outcome === 'rejected'),
      removed: count((one) => one.policy === policy && one.outcome === 'removed'),
    })),
    appeals: { opened, ...appeals },
    time_to_decision_seconds: seconds.length > 0 ? { median: nth(0.5), p90: nth(0.9) } : null,
  };
}
