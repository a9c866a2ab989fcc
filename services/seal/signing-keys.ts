import type { KeyObject } from 'node:crypto';
import type { Config } from '../../platform/config.ts';
import { signingKey } from '../../platform/tlog/note.ts';

/** The keys of `SEAL_KEY`, which all sign each checkpoint. Empty: nothing is sealed. */
export const signingKeys = ({ sealKey = [] }: Pick<Config, 'sealKey'>): KeyObject[] =>
  sealKey.map((seed) => signingKey(seed));
