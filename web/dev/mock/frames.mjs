// Frames (docs/view-protocol.md): objects, removed ids, touching pairs.

export function frame({ tick, objects, gone, touching, whole, shared }) {
  const list = [...objects].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  const bytes = Buffer.alloc(32 + list.length * 44 + gone.length * 8 + touching.length * 16);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt8(whole ? 1 : 0, 1);
  bytes.writeUInt16LE(1000, 2);
  bytes.writeUInt32LE(list.length, 4);
  bytes.writeBigUInt64LE(BigInt(tick), 8);
  bytes.writeUInt32LE(gone.length, 16);
  bytes.writeUInt32LE(touching.length, 20);
  let at = 32;
  for (const object of list) {
    bytes.writeBigUInt64LE(BigInt(object.id), at);
    const whole16 = (value) => Math.max(-32768, Math.min(32767, Math.round(value)));
    object.position.forEach((part, axis) => {
      bytes.writeInt32LE(Math.round(part * 4096), at + 8 + axis * 4);
    });
    object.velocity.forEach((part, axis) => bytes.writeInt16LE(whole16(part * 256), at + 20 + axis * 2));
    object.spin.forEach((part, axis) => bytes.writeInt16LE(whole16(part * 256), at + 26 + axis * 2));
    object.rotation.forEach((part, axis) => bytes.writeInt16LE(whole16(part * 32767), at + 32 + axis * 2));
    bytes.writeUInt16LE(object.form, at + 40);
    bytes.writeUInt8(object.kind, at + 42);
    const home = object.group === undefined ? 0 : (object.group % 127) + 1;
    bytes.writeUInt8((shared(object) ? 1 : 0) | (home << 1), at + 43);
    at += 44;
  }
  for (const id of gone) at = bytes.writeBigUInt64LE(BigInt(id), at);
  for (const [one, other] of touching) {
    at = bytes.writeBigUInt64LE(BigInt(one.id), at);
    at = bytes.writeBigUInt64LE(BigInt(other.id), at);
  }
  return bytes;
}

export function closePairs(tick, metres, pairs) {
  const bytes = Buffer.alloc(24 + pairs.length * 20);
  bytes.writeUInt8(2, 0);
  bytes.writeBigUInt64LE(BigInt(tick), 8);
  bytes.writeFloatLE(metres, 16);
  bytes.writeUInt32LE(pairs.length, 20);
  pairs.forEach(([one, other, apart], index) => {
    bytes.writeBigUInt64LE(BigInt(one.id), 24 + index * 20);
    bytes.writeBigUInt64LE(BigInt(other.id), 32 + index * 20);
    bytes.writeFloatLE(apart, 40 + index * 20);
  });
  return bytes;
}
