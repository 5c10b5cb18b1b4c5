import { assertPossible } from '../cluster/host.ts';
import { describeLab, type LabReport } from '../cluster/describe-lab.ts';
import { listLabs } from '../cluster/lab-record.ts';
import { jsonOption, nameOption, type Command } from './command.ts';

export const status: Command = {
  summary: 'what runs in a lab, where its logs are, and what is wrong',
  options: { name: nameOption, json: jsonOption },
  async run({ name, json }) {
    assertPossible();
    const report = await describeLab(String(name));
    console.log(json ? JSON.stringify(report, null, 2) : formatReport(report));
    if (report.problems.length > 0) process.exitCode = 1;
  },
};

function formatReport(report: LabReport): string {
  const lines = [`Lab ${report.name}`];
  const table = (rows: string[][]) => {
    const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
    return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd());
  };
  if (report.exists) {
    lines.push(
      `  kubeconfig  ${report.kubeconfig}`,
      `  kubectl     ${report.kubectl}`,
      `  volumes     ${report.volumes}`,
      '',
    );
    lines.push(
      ...table([
        ['COMPONENT', 'STATE', 'PID', 'LOG'],
        ...report.components.map((c) => [c.name, c.state, String(c.pid ?? '-'), c.log]),
      ]),
      '',
    );
    if (report.nodes.length > 0)
      lines.push(
        ...table([
          ['NODE', 'READY', 'ZONE', 'ADDRESS'],
          ...report.nodes.map((n) => [n.name, n.ready, n.zone, n.address]),
        ]),
        '',
      );
  }
  if (report.problems.length === 0) lines.push('  ✓ nothing is wrong');
  for (const { what, remedy } of report.problems) lines.push(`  ✗ ${what}`, `    what to do: ${remedy}`);
  const others = listLabs().filter((other) => other !== report.name);
  if (others.length > 0) lines.push('', `  other labs on this machine: ${others.join(', ')}`);
  return lines.join('\n');
}
