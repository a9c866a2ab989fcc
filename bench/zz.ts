import { readFileSync, readdirSync } from 'node:fs';
import { withSetting } from './setting.ts';
import { guestbook } from './guestbook.ts';
import { updates } from './updates.ts';
import { queue } from './queue.ts';
import { append } from './append.ts';
const B:any={guestbook,updates,queue,append};
function cpu(){ const out:any={web:0,floor:0,pg:0}; for(const d of readdirSync('/proc')){ if(!/^\d+$/.test(d)) continue; try{ const c=readFileSync(`/proc/${d}/cmdline`,'utf8'); let k=''; if(/postgres: .*bench_|postgres: .*walwriter/.test(c)) k='pg'; else if(/services\/web\.ts/.test(c) && c.includes(process.cwd())) k='web'; else if(/floor(-server)?\.ts/.test(c)&& c.includes(process.cwd())) k='floor'; else continue; const s=readFileSync(`/proc/${d}/stat`,'utf8').split(') ').at(-1)!.split(' '); out[k]+=(Number(s[11])+Number(s[12]))*10000; }catch{} } return out; }
const only=process.argv[3]?new RegExp(process.argv[3]):/./; const secs=Number(process.argv[4]??3);
await withSetting(async (setting)=>{
  for(const c of await B[process.argv[2]!].prepare(setting)){ if(!only.test(c.name)) continue;
    console.log('#',c.name);
    for(const [n,x] of [['ours',c.ours],...c.floors.map((f:any)=>[f.name,f.contender])] as any){
      await x.run(1); const a=cpu(); const t=performance.now(); const r=await x.run(secs); const n_=r*(performance.now()-t)/1000; const b=cpu();
      console.log(n.padEnd(40), r.toFixed(0)+'/s', 'web µs',((b.web-a.web+b.floor-a.floor)/n_).toFixed(0),'pg µs',((b.pg-a.pg)/n_).toFixed(0));
    } }
});
