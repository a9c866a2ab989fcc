import { keep, readKept } from './kept.ts';

export interface Draft {
  /** Of the note that it becomes. */
  id: string;
  message: string;
  name: string;
  asGuest: boolean;
}

/** This tab's own, or else what was last written in another one, which may be closed by now. */
export const readDraft = (slot: string): Draft | undefined =>
  readKept(slot, 'sessionStorage') ?? readKept(slot);

export function keepDraft(slot: string, draft: Draft): void {
  keep(slot, draft, 'sessionStorage');
  keep(slot, draft);
}

/** What another tab has written meanwhile stays: it has another id. */
export function dropDraft(slot: string, id: string): void {
  for (const area of ['sessionStorage', 'localStorage'] as const)
    if (readKept<Draft>(slot, area)?.id === id) keep(slot, undefined, area);
}
