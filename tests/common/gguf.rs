//! A GGUF file taken apart, so that it can be put together otherwise.

/// A GGUF file taken apart.
#[derive(Clone)]
pub struct Gguf {
    pub version: u32,
    pub metadata: Vec<(String, Meta)>,
    pub tensors: Vec<Info>,
    pub data: Vec<u8>,
}

/// The header's entry for one tensor.
#[derive(Clone)]
pub struct Info {
    pub name: String,
    /// The dimension that varies fastest comes first.
    pub shape: Vec<u64>,
    pub kind: u32,
    pub offset: u64,
}

/// A value of the metadata, of the types in the fixtures.
#[derive(Clone)]
pub enum Meta {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Integers(Vec<i32>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
    /// A type, and the bytes of a value.
    Raw(u32, Vec<u8>),
}

impl Meta {
    pub fn u16(number: u16) -> Self {
        Self::Raw(2, number.to_le_bytes().to_vec())
    }

    /// An array of bools.
    pub fn flags(flags: &[bool]) -> Self {
        let count = (flags.len() as u64).to_le_bytes();
        let flags = flags.iter().map(|flag| u8::from(*flag));
        Self::Raw(
            9,
            [&7_u32.to_le_bytes()[..], &count].concat().into_iter().chain(flags).collect(),
        )
    }

    pub fn i32(number: i32) -> Self {
        Self::Raw(5, number.to_le_bytes().to_vec())
    }
}

impl Gguf {
    /// Takes the bytes of a whole file.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut reader = Reader { bytes, position: 4 };
        let version = reader.u32();
        let (tensors, entries) = (reader.u64(), reader.u64());
        let metadata = (0..entries).map(|_| (reader.text(), reader.value())).collect();
        let tensors = (0..tensors).map(|_| Info {
            name: reader.text(),
            shape: {
                let dimensions = reader.u32();
                (0..dimensions).map(|_| reader.u64()).collect()
            },
            kind: reader.u32(),
            offset: reader.u64(),
        });
        let tensors = tensors.collect();
        let start = reader.position.next_multiple_of(32);
        Self { version, metadata, tensors, data: bytes[start..].to_vec() }
    }

    /// The bytes of the whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.header();
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }

    /// All that stands before the data.
    pub fn header(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            write_text(key, &mut bytes);
            write_value(value, &mut bytes);
        }
        for info in &self.tensors {
            write_text(&info.name, &mut bytes);
            bytes.extend((info.shape.len() as u32).to_le_bytes());
            bytes.extend(info.shape.iter().flat_map(|size| size.to_le_bytes()));
            bytes.extend(info.kind.to_le_bytes());
            bytes.extend(info.offset.to_le_bytes());
        }
        bytes
    }

    /// The file as several, as llama.cpp's `gguf-split` writes them: each has the next of the tensors,
    /// as many as `counts` says, and the first the metadata.
    pub fn split(&self, counts: &[usize]) -> Vec<Self> {
        assert_eq!(counts.iter().sum::<usize>(), self.tensors.len());
        let mut tensors = self.tensors.iter();
        let part = |(number, count): (usize, &usize)| {
            let (mut infos, mut data) = (Vec::new(), Vec::new());
            for info in tensors.by_ref().take(*count) {
                infos.push(Info { offset: data.len() as u64, ..info.clone() });
                data.extend(self.data_of(info));
                data.resize(data.len().next_multiple_of(32), 0);
            }
            let metadata = if number == 0 {
                self.metadata.clone()
            } else {
                Vec::new()
            };
            let mut part = Self { version: self.version, metadata, tensors: infos, data };
            part.set("split.no", Meta::u16(number as u16));
            part.set("split.count", Meta::u16(counts.len() as u16));
            part.set("split.tensors.count", Meta::i32(self.tensors.len() as i32));
            part
        };
        counts.iter().enumerate().map(part).collect()
    }

    /// The data from where a tensor begins to where the next one does.
    fn data_of(&self, info: &Info) -> &[u8] {
        let next = self.tensors.iter().map(|info| info.offset).filter(|at| *at > info.offset).min();
        &self.data[info.offset as usize..next.map_or(self.data.len(), |next| next as usize)]
    }

    /// Sets a value, whether the key is there or not.
    pub fn set(&mut self, key: &str, value: Meta) {
        match self.metadata.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.metadata.push((key.to_owned(), value)),
        }
    }

    pub fn remove(&mut self, key: &str) {
        self.metadata.retain(|(name, _)| name != key);
    }

    /// The value of a key.
    pub fn value(&mut self, key: &str) -> &mut Meta {
        &mut self.metadata.iter_mut().find(|(name, _)| name == key).unwrap().1
    }

    /// The entry of a tensor.
    pub fn info(&mut self, name: &str) -> &mut Info {
        self.tensors.iter_mut().find(|info| info.name == name).unwrap()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let bytes = self.bytes[self.position..][..N].try_into().unwrap();
        self.position += N;
        bytes
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn text(&mut self) -> String {
        let length = self.u64() as usize;
        let bytes = self.bytes[self.position..][..length].to_vec();
        self.position += length;
        String::from_utf8(bytes).unwrap()
    }

    fn value(&mut self) -> Meta {
        match self.u32() {
            4 => Meta::U32(self.u32()),
            6 => Meta::F32(f32::from_le_bytes(self.take())),
            7 => Meta::Bool(self.take() == [1]),
            8 => Meta::Text(self.text()),
            9 => {
                let (kind, count) = (self.u32(), self.u64());
                match kind {
                    5 => Meta::Integers(
                        (0..count).map(|_| i32::from_le_bytes(self.take())).collect(),
                    ),
                    6 => {
                        Meta::Floats((0..count).map(|_| f32::from_le_bytes(self.take())).collect())
                    }
                    8 => Meta::Texts((0..count).map(|_| self.text()).collect()),
                    other => panic!("the fixtures have no arrays of type {other}"),
                }
            }
            other => panic!("the fixtures have no values of type {other}"),
        }
    }
}

fn write_text(text: &str, to: &mut Vec<u8>) {
    to.extend((text.len() as u64).to_le_bytes());
    to.extend(text.as_bytes());
}

fn write_value(value: &Meta, to: &mut Vec<u8>) {
    let array = |kind: u32, count: usize, to: &mut Vec<u8>| {
        to.extend(9_u32.to_le_bytes());
        to.extend(kind.to_le_bytes());
        to.extend((count as u64).to_le_bytes());
    };
    let kind = |kind: u32, to: &mut Vec<u8>| to.extend(kind.to_le_bytes());
    match value {
        Meta::U32(number) => {
            kind(4, to);
            to.extend(number.to_le_bytes());
        }
        Meta::F32(number) => {
            kind(6, to);
            to.extend(number.to_le_bytes());
        }
        Meta::Bool(flag) => {
            kind(7, to);
            to.push(u8::from(*flag));
        }
        Meta::Text(text) => {
            kind(8, to);
            write_text(text, to);
        }
        Meta::Integers(numbers) => {
            array(5, numbers.len(), to);
            to.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Meta::Floats(numbers) => {
            array(6, numbers.len(), to);
            to.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Meta::Texts(texts) => {
            array(8, texts.len(), to);
            texts.iter().for_each(|text| write_text(text, to));
        }
        Meta::Raw(id, bytes) => {
            kind(*id, to);
            to.extend(bytes);
        }
    }
}
