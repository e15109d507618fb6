//! What a Web Worker calls.

use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// An [`Engine`](crate::Engine), with errors that JavaScript throws.
#[wasm_bindgen]
pub struct Engine(crate::Engine);

#[wasm_bindgen]
impl Engine {
    #[wasm_bindgen(constructor)]
    pub fn new(gguf: Vec<u8>) -> Result<Engine, JsError> {
        crate::Engine::new(gguf).map(Self).map_err(to_js)
    }

    pub fn open(&mut self, kind: &str) -> Result<u32, JsError> {
        self.0.open(kind).map_err(to_js)
    }

    pub fn ask(&mut self, number: u32, request: &str) -> Result<String, JsError> {
        self.0.ask(number, request).map_err(to_js)
    }
}

fn to_js(error: Box<dyn std::error::Error>) -> JsError {
    JsError::new(&error.to_string())
}
