import type { Logger } from 'pino';
import { boundedReads } from '../../platform/postgres/bounded-reads.ts';
import { isUnavailable, Overloaded, StorageUnavailable } from '../../platform/postgres/errors.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import type { Sql } from '../../platform/sql.ts';
import { toLoggable } from '../../platform/telemetry/logger.ts';
import { accessSection, keysSection, limitsSection } from './access-sections.ts';
import type { Context, OperateDeps } from './context.ts';
import { databaseSection, logSection, readModelsSection, sealSection } from './log-sections.ts';
import { processSection, replicaSection } from './process-sections.ts';
import type { Report, Section } from './report.ts';
import { erasuresSection, jobsSection, reviewSection } from './work-sections.ts';

/** Longest duration of a statement, and of all statements of a report, in milliseconds. */
const STATEMENT_MS = 1000;
const REPORT_MS = 5000;
/** How long a report is shown, in milliseconds: no caller makes the database work more often. */
const KEPT_MS = 5000;

/** The sections that are read from the database, in the order of the page. */
const SECTIONS: readonly {
  name: string;
  title: string;
  read: (context: Context) => Promise<Section>;
}[] = [
  { name: 'database', title: 'Database and processes', read: databaseSection },
  { name: 'log', title: 'Streams and events', read: logSection },
  { name: 'read_models', title: 'Read models', read: readModelsSection },
  { name: 'seal', title: 'Sealed log', read: sealSection },
  { name: 'jobs', title: 'Jobs and dead letters', read: jobsSection },
  { name: 'review', title: 'Review and notices', read: reviewSection },
  { name: 'erasures', title: 'Erasures under way', read: erasuresSection },
  { name: 'access', title: 'Credentials and sessions', read: accessSection },
  { name: 'limits', title: 'Limits near exhaustion', read: limitsSection },
  { name: 'keys', title: 'Server keys', read: keysSection },
];

/** PostgreSQL's codes of what a section may meet while a release is under way, or with other grants. */
const REASONS: Readonly<Record<string, string>> = {
  '42501': 'The role of this process may not read it.',
  '42P01': 'The schema is that of another release.',
  '42703': 'The schema is that of another release.',
};

const AWAY = 'PostgreSQL does not answer.';
const LATE = 'The five seconds for this page were over.';

/**
 * Creates the function that makes the report for operators. One report is made at a time, with one connection, and
 * shared by all who ask meanwhile and for `keptMs` milliseconds after. A section that cannot be read says why; the
 * others, and what the process knows, are there all the same.
 */
export function createReport(
  deps: OperateDeps,
  logger: Pick<Logger, 'warn'>,
  { keptMs = KEPT_MS }: { keptMs?: number } = {},
): () => Promise<Report> {
  const bounded = boundedReads(deps.pool, {
    maxConcurrent: 1,
    waitMs: REPORT_MS,
    statementMs: STATEMENT_MS,
  });
  const { signal } = new AbortController();
  let last: Report | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<Report> | undefined;

  async function make(): Promise<Report> {
    const at = new Date();
    const read = <Row>(statement: Sql<Row>) => bounded(statement, signal);
    const sections: Section[] = [];
    const until = performance.now() + REPORT_MS;
    let away = false;
    await withDeadline(async () => {
      for (const { name, title, read: readSection } of SECTIONS)
        try {
          if (away) throw new StorageUnavailable(AWAY);
          if (performance.now() > until) throw new Overloaded(LATE);
          sections.push(await readSection({ ...deps, at, read }));
        } catch (error) {
          const late = performance.now() > until;
          away ||= isUnavailable(error) && !(error instanceof Overloaded) && !late;
          sections.push({ name, title, unread: late ? LATE : reasonOf(error) });
        }
    }, until);
    const known = [processSection(deps), ...sections, replicaSection(deps)];
    return {
      at,
      process: deps.process,
      sections: away
        ? known.map((one) => (one.name === 'process' ? withWarning(one, AWAY) : one))
        : known,
    };
  }

  function reasonOf(error: unknown): string {
    if (error instanceof Overloaded) return 'A statement took longer than a second.';
    if (isUnavailable(error)) return AWAY;
    const reason = REASONS[String((error as { code?: unknown }).code)];
    if (reason === undefined)
      logger.warn({ error: toLoggable(error) }, 'a section of /operate was not read');
    return reason ?? 'It failed; the log of this process says why.';
  }

  return async () => {
    if (last && performance.now() - madeAt < keptMs) return last;
    pending ??= make()
      .then((report) => {
        last = report;
        madeAt = performance.now();
        return report;
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
}

const withWarning = (section: Section, warning: string): Section => ({
  ...section,
  warnings: [warning, ...(section.warnings ?? [])],
});
