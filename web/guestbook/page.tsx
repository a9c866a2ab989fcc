import { useEffect, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { Foreign } from '../shared/text.tsx';
import { Ago } from '../shared/time.tsx';

interface Read {
  entries: { id: string; name: string; message: string; created_at: number }[];
  notice: string;
}

export function GuestbookPage() {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    void call<Read>('GET', '/api/guestbook').then((answer) => {
      if (answer.kind === 'done') setRead(answer.body);
    });
  }, []);
  return (
    <main>
      <h1>Guestbook</h1>
      <p>{read?.notice}</p>
      {read?.entries.map(({ id, name, message, created_at }) => (
        <article key={id}>
          <h2>
            <Foreign text={name} /> <Ago time={new Date(created_at * 1000)} />
          </h2>
          <p>
            <Foreign text={message} />
          </p>
        </article>
      ))}
    </main>
  );
}
