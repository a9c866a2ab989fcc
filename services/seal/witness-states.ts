import type { LogWitness } from '../../platform/log-settings.ts';
import { openNote } from '../../platform/tlog/note.ts';
import type { Cosigned } from './tree-store.ts';

/** How far one of the witnesses of `LOG_WITNESSES` is. */
export interface WitnessState {
  name: string;
  /** Whether the public checkpoint lacks its signature. */
  missing: boolean;
  /** When it last co-signed a checkpoint of this epoch, by the clock of the database; null if it never has. */
  cosignedAt: Date | null;
}

/** How far each witness is, in the order of `LOG_WITNESSES`. */
export const witnessStates = (
  witnesses: readonly LogWitness[],
  { checkpoint, cosigned }: Cosigned,
): WitnessState[] =>
  witnesses.map(({ key }) => {
    const at = new Map(Object.entries(cosigned ?? {})).get(key.name);
    return {
      name: key.name,
      missing: openNote(checkpoint, [key]) === undefined,
      cosignedAt: at === undefined ? null : new Date(at),
    };
  });
