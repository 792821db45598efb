// Run in a project that has installed the packed package: prints the processor time, in
// milliseconds, that importing it takes.
const before = process.cpuUsage();
await import("callgate");
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${(user + system) / 1000}\n`);
