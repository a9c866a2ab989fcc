import '../shared/base.css';
import './console.css';
import './note.css';
import './drawer.css';
import './pages.css';
import { render } from 'preact';
import { Console } from './console.tsx';
import { listenToClicks } from './double-clicks.ts';
import { listenToKeys } from './keys.ts';
import { resumeSession } from './session.ts';

const place = document.getElementById('page');
if (place) render(<Console />, place);
listenToClicks();
listenToKeys();
void resumeSession();
