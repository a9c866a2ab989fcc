import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';

const Part = (description: string, example: string) =>
  z
    .string()
    .max(20)
    .meta({ description, examples: [example] });

const Level = Part('The level of the tile, 0 for leaves', '0');

/** Public, and the same for every caller. */
const read = {
  method: 'GET',
  tag: 'log',
  access: 'public',
  unknownQuery: 'ignored',
  problems: ['not_found', 'storage_unavailable'],
} as const;

const tile = {
  ...read,
  summary: 'A tile of the sealed log: up to 256 hashes of one level (C2SP tlog-tiles)',
  replies: {
    200: { description: 'The hashes, 32 bytes each', type: 'application/octet-stream' },
  },
} as const;

const NUMBER =
  'The number of the tile: its last three digits, the digits before in parts of three after an x, ' +
  'and `.p/` and the number of hashes for the partial tile at the end';

export const sealContract = defineContract({
  'log.checkpoint': {
    ...read,
    path: '/log/checkpoint',
    summary: 'The newest signed checkpoint of the sealed log (C2SP tlog-checkpoint)',
    description:
      'Origin, number of events and root hash of the tree, as a signed note. Not found where ' +
      'nothing is sealed.',
    replies: { 200: { description: 'The checkpoint', type: 'text/plain' } },
  },
  'log.tile': {
    ...tile,
    path: '/log/tile/:level/:tile',
    description: `${NUMBER}. Full tiles never change.`,
    params: z.object({ level: Level, tile: Part('The number, or its only part', '000') }),
  },
  'log.tile_2': {
    ...tile,
    path: '/log/tile/:level/:tile/:part',
    description: `The same for a number of two parts, or one part and the number of hashes.`,
    params: z.object({
      level: Level,
      tile: Part('The first part of the number', '000.p'),
      part: Part('The second part, or the number of hashes', '5'),
    }),
  },
  'log.tile_3': {
    ...tile,
    path: '/log/tile/:level/:tile/:part/:last',
    description: `The same for a number of three parts, or two parts and the number of hashes.`,
    params: z.object({
      level: Level,
      tile: Part('The first part of the number', 'x001'),
      part: Part('The second part', '067.p'),
      last: Part('The third part, or the number of hashes', '5'),
    }),
  },
});
