import { z } from 'zod';
import type { Finding } from '../../../domain/screening/rules.ts';
import { BANDS, FINDING_CODES } from '../../../domain/screening/rules.ts';
import { Timestamp } from '../../../platform/http/schemas.ts';
import type { FindingSpans, FindingWords } from '../../screening/findings.ts';
import { toSentence } from '../../screening/sentences.ts';

/** After this time, a missing screening counts as unavailable. It never blocks a decision. */
const PATIENCE_SECONDS = 30;

export const Screening = z
  .object({
    state: z.enum(['pending', 'done', 'unavailable']),
    /** For grouping and colouring; null until the screening is done. */
    band: z.enum(BANDS).nullable(),
    findings: z.array(
      z.object({
        code: z.enum(FINDING_CODES),
        text: z.string(),
        words: z
          .array(z.string())
          .describe(
            'Up to five parts of the note that the finding refers to, as they were written',
          ),
        spans: z
          .array(z.object({ start: z.int(), end: z.int() }).meta({ id: 'TextSpan' }))
          .describe(
            'Up to 20 parts of `text` that the finding refers to, in Unicode code points; `end` is ' +
              'the place after the last one. Empty if the finding refers to no part of it',
          ),
      }),
    ),
    rules_version: z.int().nullable(),
    screened_at: Timestamp.nullable(),
  })
  .meta({ id: 'NoteScreening' });
export type Screening = z.input<typeof Screening>;

/** The columns that a query for notes joins from `note_screenings s`. */
export interface ScreeningColumns {
  age_seconds: number;
  rules_version: number | null;
  band: (typeof BANDS)[number] | null;
  findings: Finding[] | null;
  words: FindingWords | null;
  spans: FindingSpans | null;
  screened_at: Date | null;
}

export function screeningBody(row: ScreeningColumns): Screening {
  if (!row.findings)
    return {
      state: row.age_seconds < PATIENCE_SECONDS ? 'pending' : 'unavailable',
      band: null,
      findings: [],
      rules_version: null,
      screened_at: null,
    };
  return {
    state: 'done',
    band: row.band,
    findings: row.findings.map((finding) => {
      const words = row.words?.[finding.code] ?? [];
      const spans = (row.spans?.[finding.code] ?? []).map(([start, end]) => ({ start, end }));
      return { code: finding.code, text: toSentence(finding, words), words, spans };
    }),
    rules_version: row.rules_version,
    screened_at: row.screened_at?.toISOString() ?? null,
  };
}
