import type { Reader } from '../../../platform/http/reader.ts';
import { address } from './lists.ts';
import { readBody } from './read-body.ts';
import type { Page } from './view.ts';

type Query = {
  cursor?: string | undefined;
  limit?: number;
};

export const readWeeks = (reader: Reader, query: Query) =>
  readBody(reader, 'transparency.list', { query });

export async function transparencyPage(reader: Reader, { cursor }: Query): Promise<Page> {
  const { weeks, next_cursor } = await readWeeks(reader, { cursor });
  const older = next_cursor ? address('/transparency', { cursor: next_cursor }) : undefined;
  const csv = address('/transparency.csv', { cursor });
  return {
    head: {
      title: 'Transparency',
      description: 'What moderators decided by week and policy, how fast, and how appeals ended.',
      path: address('/transparency', { cursor }),
      alternates: [
        {
          type: 'application/json',
          href: address('/api/transparency', { cursor }),
          title: 'As JSON',
        },
        { type: 'text/csv', href: csv, title: 'As CSV' },
      ],
      older,
    },
    view: { kind: 'transparency', weeks, csv, older },
  };
}
