import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Experience } from '../../domain/guestbook/words.ts';
import { createGuestbookPages, writeIndex } from './guestbook-pages.ts';
import { createOutputFile } from './output-file.ts';
import type { PublicRecords } from './public-records.ts';

/** How many records of each kind were written. */
export interface Exported {
  notes: number;
  packets: number;
  profiles: number;
  cases: number;
}

/**
 * Writes everything that is public to a new folder: a file of NDJSON for each kind of record, and the pages of the
 * guestbooks. The folder has its name only when it is complete. Throws if the folder exists.
 */
export async function writeExport(
  records: PublicRecords,
  folder: string,
  { baseUrl, now }: { baseUrl: string; now: Date },
): Promise<Exported> {
  if (await exists(folder)) throw new Error(`${folder} exists: name a new folder`);
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  const exported: Exported = {
    notes: await writeNotes(records, partial, baseUrl, now),
    packets: await writeLines(join(partial, 'packets.ndjson'), records.packets()),
    profiles: await writeLines(join(partial, 'profiles.ndjson'), records.profiles()),
    cases: await writeLines(join(partial, 'cases.ndjson'), records.cases()),
  };
  const description = { base_url: baseUrl, exported_at: now.toISOString(), records: exported };
  await writeFile(join(partial, 'export.json'), `${JSON.stringify(description, null, 2)}\n`);
  await rename(partial, folder);
  return exported;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

async function writeNotes(
  { experiences, threads }: PublicRecords,
  folder: string,
  baseUrl: string,
  now: Date,
): Promise<number> {
  const lines = createOutputFile(join(folder, 'notes.ndjson'));
  const counts = new Map<Experience, number>();
  for (const experience of experiences) {
    const pages = createGuestbookPages(folder, experience);
    let count = 0;
    for await (const { note, replies } of threads(experience)) {
      await pages.beginThread(note);
      await lines.write(`${JSON.stringify(note)}\n`);
      count += 1;
      for await (const reply of replies()) {
        await pages.reply(reply);
        await lines.write(`${JSON.stringify(reply)}\n`);
        count += 1;
      }
      await pages.endThread();
    }
    await pages.close();
    counts.set(experience, count);
  }
  await lines.close();
  await writeIndex(folder, baseUrl, now, counts);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

async function writeLines(path: string, records: AsyncIterable<unknown>): Promise<number> {
  const file = createOutputFile(path);
  let count = 0;
  for await (const record of records) {
    await file.write(`${JSON.stringify(record)}\n`);
    count += 1;
  }
  await file.close();
  return count;
}
