import { stripInvisible } from '../../platform/visible-text.ts';

/** Text by others, in which parts (start and length in code points) are marked. */
export function MarkedText({ text, marks }: { text: string; marks: readonly number[][] }) {
  const characters = [...text];
  const part = (start: number, end?: number) =>
    stripInvisible(characters.slice(start, end).join(''));
  let done = 0;
  const pieces = marks.map(([start = 0, length = 0]) => {
    const before = part(done, start);
    done = start + length;
    return (
      <>
        {before}
        <mark>{part(start, done)}</mark>
      </>
    );
  });
  return (
    <>
      {pieces}
      {part(done)}
    </>
  );
}
