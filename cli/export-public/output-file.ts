import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Writes a new text file piece by piece, and waits while the disk is slower than the reads. */
export function createOutputFile(path: string) {
  const stream = createWriteStream(path, { flags: 'wx' });
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  return {
    async write(text: string): Promise<void> {
      if (failure) throw failure;
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
      if (failure) throw failure;
    },
    async close(): Promise<void> {
      stream.end();
      if (!stream.closed) await once(stream, 'close');
      if (failure) throw failure;
    },
  };
}

export type OutputFile = ReturnType<typeof createOutputFile>;
