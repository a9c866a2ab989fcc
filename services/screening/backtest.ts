import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import {
  BANDS,
  type Band,
  FINDING_CODES,
  type Finding,
  type FindingCode,
  RULES_VERSION,
  toBand,
  type Weights,
} from '../../domain/screening/rules.ts';
import { query } from '../../platform/postgres/query.ts';
import { type ScreenedNoteRow, screenedNotes } from '../../projections/screening/screenings.ts';
import { findingsIn } from './findings.ts';

/**
 * Codes of findings that compare a note with others, with the members or with what the classifier had
 * learnt. They hold as they were recorded: what was known then is not known any more.
 */
const COMPARED: ReadonlySet<FindingCode> = new Set([
  'same_as_rejected',
  'like_rejected',
  'reads_like_rejected',
  'same_as_pending',
  'like_pending',
  'same_as_approved',
  'like_approved',
  'member_name',
]);

const PAGE = 500;
/** Notes between two turns of the event loop. */
const AT_A_TIME = 100;
const MOST_EXAMPLES = 20;

/** The notes of a band by what became of them. */
interface BandFigures {
  refused: number;
  public: number;
  undecided: number;
}

/** What one set of rules makes of the notes. */
export interface Judgement {
  bands: Record<Band, BandFigures>;
  /** Seconds that the notes caught had waited for their decision. */
  waited: number;
  /** Seconds from claim to decision of the notes caught, where they were claimed. */
  handled: number;
  /** Public notes in the band `likely_spam` that an appeal restored after a refusal. */
  restored: number;
}

interface CodeFigures {
  refused: number;
  public: number;
  undecided: number;
  /** Notes in which it was recorded, and in which these rules do not find it. */
  lost: number;
  /** Notes in which it was not recorded, and in which these rules find it. */
  gained: number;
}

export interface Backtest {
  notes: number;
  /** Notes with their text; of the others, the recorded findings count. */
  known: number;
  /** Of the notes with text, those that this version of the rules has screened. */
  comparable: number;
  /** Of those, the ones in whose text the same is found again. */
  reproduced: number;
  /** Ids of the first notes in which it is not. */
  deviating: string[];
  recorded: Judgement;
  judged: Judgement;
  codes: Map<FindingCode, CodeFigures>;
}

interface Period {
  from: Date | null;
  to: Date | null;
}

/**
 * Judges every note that was ever screened by these weights and the rules of this program, with its
 * comparisons as they were recorded. Reads pages, so that no snapshot is held long. `progress` is
 * called after each page.
 */
export async function backtest(
  pool: pg.Pool,
  weights: Weights,
  period: Period,
  progress: (notes: number) => void,
): Promise<Backtest> {
  const result = newBacktest();
  for (let after: string | undefined; ; ) {
    const rows = await query(pool, screenedNotes(period, PAGE, after));
    await judgeAll(result, rows, weights);
    progress(result.notes);
    if (rows.length < PAGE) return result;
    after = rows.at(-1)?.note_id;
  }
}

/** Adds these notes to the figures, and lets others have the event loop in between. */
export async function judgeAll(
  result: Backtest,
  rows: readonly ScreenedNoteRow[],
  weights: Weights,
  atATime = AT_A_TIME,
): Promise<void> {
  for (const [index, row] of rows.entries()) {
    if (index % atATime === 0) await turn();
    judge(result, row, weights);
  }
}

export const newBacktest = (): Backtest => ({
  notes: 0,
  known: 0,
  comparable: 0,
  reproduced: 0,
  deviating: [],
  recorded: newJudgement(),
  judged: newJudgement(),
  codes: new Map(FINDING_CODES.map((code) => [code, newCode()])),
});

function judge(result: Backtest, row: ScreenedNoteRow, weights: Weights): void {
  result.notes++;
  const findings = findingsNow(row);
  if (row.message !== null) {
    result.known++;
    if (row.rules_version === RULES_VERSION) {
      result.comparable++;
      if (sameFindings(findings, row.findings)) result.reproduced++;
      else if (result.deviating.length < MOST_EXAMPLES) result.deviating.push(row.note_id);
    }
  }
  count(result.recorded, row.band, row);
  count(result.judged, toBand(findings, weights), row);
  const before = new Set(row.findings.map(({ code }) => code));
  const now = new Set(findings.map(({ code }) => code));
  for (const [code, figures] of result.codes) {
    if (now.has(code)) figures[outcomeOf(row)]++;
    if (before.has(code) && !now.has(code)) figures.lost++;
    if (!before.has(code) && now.has(code)) figures.gained++;
  }
}

/** What these rules find in the text, and what was recorded of its comparison with others. */
function findingsNow({ name, message, findings }: ScreenedNoteRow): Finding[] {
  if (message === null) return findings;
  const compared = findings.filter(({ code }) => COMPARED.has(code));
  return [...compared, ...findingsIn({ name: name ?? '', message }).findings];
}

function sameFindings(some: readonly Finding[], others: readonly Finding[]): boolean {
  const counts = new Map(others.map(({ code, count }) => [code, count]));
  return (
    some.length === others.length && some.every(({ code, count }) => counts.get(code) === count)
  );
}

const REFUSED = ['rejected', 'removed'];

/** A pending or withdrawn note does not say whether a moderator would have refused it. */
function outcomeOf({ state }: ScreenedNoteRow): keyof BandFigures {
  if (state === 'approved') return 'public';
  return REFUSED.includes(state) ? 'refused' : 'undecided';
}

function count(judgement: Judgement, band: Band, row: ScreenedNoteRow): void {
  const outcome = outcomeOf(row);
  judgement.bands[band][outcome]++;
  if (band !== 'likely_spam') return;
  if (outcome === 'public' && row.granted) judgement.restored++;
  if (outcome !== 'refused') return;
  judgement.waited += row.waited ?? 0;
  judgement.handled += row.handled ?? 0;
}

const newBand = (): BandFigures => ({ refused: 0, public: 0, undecided: 0 });

const newCode = (): CodeFigures => ({ ...newBand(), lost: 0, gained: 0 });

const newJudgement = (): Judgement => ({
  bands: Object.fromEntries(BANDS.map((band) => [band, newBand()])) as Judgement['bands'],
  waited: 0,
  handled: 0,
  restored: 0,
});
