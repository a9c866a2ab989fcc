import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { FINDING_CODES, WEIGHTS, type Weights } from '../../domain/screening/rules.ts';
import { describeIssue } from '../../platform/http/issues.ts';
import { parseJson } from '../../platform/json.ts';

const MAX_POINTS = 100;

const Points = z.int().min(0).max(MAX_POINTS);

/** What the file does not name keeps its value in `domain/screening/rules.ts`. */
const WeightsFile = z.strictObject({
  points: z
    .strictObject(Object.fromEntries(FINDING_CODES.map((code) => [code, Points.optional()])))
    .default({}),
  likely_spam: Points.min(1).default(WEIGHTS.likelySpam),
});

/**
 * Reads weights from a JSON file: `{"points": {"links": 2}, "likely_spam": 5}`. Throws an error with
 * one sentence if the file cannot be read, is not JSON or has other contents.
 */
export async function readWeights(file: string): Promise<Weights> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read (${error.code}).`);
  });
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw new Error(`${file} is not JSON.`);
  }
  const parsed = WeightsFile.safeParse(json, { error: describeIssue });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.length ? `${issue.path.join('.')}: ` : '';
    throw new Error(`${file} does not fit: ${path}${issue?.message}.`);
  }
  const { points, likely_spam } = parsed.data;
  return { points: { ...WEIGHTS.points, ...points }, likelySpam: likely_spam };
}
