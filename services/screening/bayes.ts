import type { TextFindings } from './findings.ts';
import { fold, foldedWords } from './folded.ts';

export interface LabelledText {
  message: string;
  rejected: boolean;
}

const MIN_DECISIONS = 100;
/** Minimum of each kind of decision: approvals alone teach the model nothing about rejections. */
const MIN_OF_A_KIND = 5;
const MIN_TEXTS = 2;
const LONGEST_WORD = 40;
const SPEAKS_FROM = 90;
const STRONGEST = 5;

interface Counts {
  approved: number;
  rejected: number;
}

export type Bayes = ReturnType<typeof newBayes>;

/**
 * Creates a naive Bayes classifier over the words of decided notes. It exists only in memory and is
 * retrained from the stored texts, so it forgets a word after the last text with it is erased.
 */
export function newBayes() {
  const texts: Counts = { approved: 0, rejected: 0 };
  const words = new Map<string, Counts>();

  function learn({ message, rejected }: LabelledText): void {
    const kind = rejected ? 'rejected' : 'approved';
    texts[kind]++;
    for (const word of keysOf(message).keys()) {
      const counts = words.get(word) ?? { approved: 0, rejected: 0 };
      counts[kind]++;
      words.set(word, counts);
    }
  }

  /** The log ratio of the word's frequency in rejected notes to its frequency in approved notes. */
  function weigh(word: string): number {
    const counts = words.get(word);
    if (!counts || counts.approved + counts.rejected < MIN_TEXTS) return 0;
    const rejected = (counts.rejected + 1) / (texts.rejected + 2);
    const approved = (counts.approved + 1) / (texts.approved + 2);
    return Math.log(rejected / approved);
  }

  /** The probability of rejection in percent, or null while there are too few decisions. */
  function judge(message: string): { percent: number; strongest: string[] } | null {
    const { approved, rejected } = texts;
    if (approved + rejected < MIN_DECISIONS) return null;
    if (Math.min(approved, rejected) < MIN_OF_A_KIND) return null;
    const weights = [...keysOf(message)].map(([key, word]) => ({ word, weight: weigh(key) }));
    const odds = weights.reduce((sum, { weight }) => sum + weight, Math.log(rejected / approved));
    const strongest = weights
      .filter(({ weight }) => weight > 0)
      .sort((one, other) => other.weight - one.weight)
      .slice(0, STRONGEST)
      .map(({ word }) => word);
    return { percent: Math.round(100 / (1 + Math.exp(-odds))), strongest };
  }

  return { learn, judge };
}

/** The model's finding for a note that moderators would probably reject; otherwise none. */
export function bayesFindings(bayes: Bayes, message: string): TextFindings {
  const judged = bayes.judge(message);
  if (!judged || judged.percent < SPEAKS_FROM || judged.strongest.length === 0)
    return { findings: [], words: {} };
  return {
    findings: [{ code: 'reads_like_rejected', count: judged.percent }],
    words: { reads_like_rejected: judged.strongest },
  };
}

/** Maps the folded form of each distinct word, which is counted, to the written form. */
function keysOf(message: string): Map<string, string> {
  const keys = new Map<string, string>();
  for (const word of foldedWords(message)) {
    const key = fold(word);
    if (key.length > 1 && key.length <= LONGEST_WORD && !keys.has(key)) keys.set(key, word);
  }
  return keys;
}
